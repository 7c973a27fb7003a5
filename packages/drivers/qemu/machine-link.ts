import { type Disposable, type JsonObject, type JsonValue, toError } from '@sheaf/base';
import { AgentChannel } from './agent-channel.ts';
import { fileNames } from './device-names.ts';
import type { MachineHost } from './host.ts';
import { KeptFacts } from './kept-facts.ts';
import type { MachineFiles, MachineRecord } from './machine-files.ts';
import { QmpClient, type QmpEvent } from './qmp-client.ts';
import { SerialConsole } from './serial-console.ts';
import { SerialLog } from './serial-log.ts';

export interface LinkListener {
  readonly onEvent: (event: QmpEvent) => void;
  readonly onClose: () => void;
}

/** All connections to one running machine. They end together. */
export class MachineLink implements Disposable {
  readonly qmp: QmpClient;
  readonly facts: KeptFacts;
  readonly serial: SerialConsole | undefined;
  readonly agent: AgentChannel | undefined;

  private constructor(
    qmp: QmpClient,
    parts: { facts: KeptFacts; serial: SerialConsole | undefined; agent: AgentChannel | undefined },
  ) {
    this.qmp = qmp;
    this.facts = parts.facts;
    this.serial = parts.serial;
    this.agent = parts.agent;
  }

  static async open(
    target: { files: MachineFiles; record: MachineRecord; host: MachineHost },
    listener: LinkListener,
  ): Promise<MachineLink> {
    const { files, record, host } = target;
    const { clock, limits } = host;
    const warn = (message: string) => (error: unknown) =>
      host.logger.warn(message, { id: record.spec.id, error: toError(error) });
    const serial = record.spec.hasSerialConsole
      ? new SerialConsole({
          path: files.path(fileNames.serial),
          log: serialLog(files, host),
          onError: warn('The serial log could not be put aside'),
        })
      : undefined;
    const agent = record.spec.hasAgentChannel
      ? new AgentChannel({
          path: files.path(fileNames.agent),
          clock,
          limitMs: limits.agentMs,
          token: () => host.random.integer(2 ** 31),
        })
      : undefined;
    const qmp = await QmpClient.connect({
      path: files.path(fileNames.control),
      clock,
      limitMs: limits.answerMs,
      onEvent: listener.onEvent,
      onClose: () => {
        serial?.close();
        agent?.dispose();
        listener.onClose();
      },
    });
    // Without it the log would grow while nobody looks on.
    serial?.ensureConnected().catch(warn('The serial console could not be opened'));
    return new MachineLink(qmp, { facts: new KeptFacts(qmp, clock), serial, agent });
  }

  execute(command: string, args?: JsonObject): Promise<JsonValue> {
    return this.qmp.execute(command, args);
  }

  dispose(): void {
    this.serial?.close();
    this.agent?.dispose();
    this.qmp.dispose();
  }
}

export function serialLog(files: MachineFiles, { limits }: MachineHost): SerialLog {
  return new SerialLog({
    path: files.path(fileNames.serialLog),
    sizeBytes: limits.serialLogBytes,
    count: limits.serialLogParts,
  });
}
