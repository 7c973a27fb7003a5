import type { Clock } from '@sheaf/base';
import type { HypervisorCapabilities } from '@sheaf/ports';
import { type Accelerator, probeAccelerator } from './accelerator-probe.ts';
import { capabilitiesOf, unknownCapabilities } from './capabilities.ts';
import { findHostPrograms, type HostPrograms, programsBeforeProbe } from './host-programs.ts';
import { probePodNetwork } from './passt-probe.ts';
import { probeTaps } from './tap-device.ts';

export interface HostProbeOptions {
  readonly directory: string;
  readonly emulator: string;
  readonly bootId: string;
  readonly accelerator: 'auto' | 'kvm' | 'tcg';
  readonly clock: Clock;
}

/** What the host can do, as of the last look. */
export class HostProbe {
  readonly #options: HostProbeOptions;
  #programs = programsBeforeProbe();
  #accelerator: Accelerator = { kind: 'tcg', reason: 'it has not been looked at yet' };
  #capabilities = unknownCapabilities();

  constructor(options: HostProbeOptions) {
    this.#options = options;
  }

  programs(): HostPrograms {
    return this.#programs;
  }

  accelerator(): 'kvm' | 'tcg' {
    return this.#accelerator.kind;
  }

  capabilities(): HypervisorCapabilities {
    return this.#capabilities;
  }

  async run({ isFresh }: { isFresh: boolean }): Promise<void> {
    const { directory, emulator: name, bootId, accelerator: wanted } = this.#options;
    const [programs, bridges] = await Promise.all([findHostPrograms(name), probeTaps()]);
    const { emulator } = programs;
    const { clock } = this.#options;
    const trying = probePodNetwork({ directory, bootId, clock, emulator }, isFresh);
    const accelerator: Accelerator = emulator
      ? await probeAccelerator(
          { directory, program: emulator.path, version: emulator.version, bootId, wanted },
          isFresh,
        )
      : { kind: 'tcg', reason: 'there is no emulator to try another with' };
    const { passt, capability: podNetworkOutside } = await trying;
    this.#programs = { ...programs, ...(passt !== undefined && { passt }) };
    this.#accelerator = accelerator;
    this.#capabilities = capabilitiesOf(programs, accelerator, { bridges, podNetworkOutside });
  }
}
