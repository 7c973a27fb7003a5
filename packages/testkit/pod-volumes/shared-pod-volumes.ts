import type { PodVolume } from '@sheaf/ports';
import type { SimulatedContainerHost } from '../containers/simulated-container-host.ts';
import { SimulatedPodVolumes } from './simulated-pod-volumes.ts';
import type { SimulatedVolumeHost } from './simulated-volume-host.ts';

/** What it makes is there for the containers of a simulated host. */
export class SharedPodVolumes extends SimulatedPodVolumes {
  readonly #files: SimulatedContainerHost['files'];
  readonly #host: SimulatedVolumeHost;

  constructor(host: SimulatedVolumeHost, { files }: Pick<SimulatedContainerHost, 'files'>) {
    super(host);
    this.#files = files;
    this.#host = host;
  }

  override async ensure(...given: Parameters<SimulatedPodVolumes['ensure']>): Promise<PodVolume> {
    const volume = await super.ensure(...given);
    this.#files.makeDirectory(volume.hostPath);
    return volume;
  }

  override async ensureMessageFile(
    ...given: Parameters<SimulatedPodVolumes['ensureMessageFile']>
  ): Promise<string> {
    const path = await super.ensureMessageFile(...given);
    this.#files.write(path, '');
    return path;
  }

  override async readMessage(...given: Parameters<SimulatedPodVolumes['readMessage']>): Promise<string> {
    const [podUid, runId] = given;
    const path = this.#host.pods.get(podUid)?.messages.get(runId);
    const written = path === undefined ? '' : (this.#files.read(path) ?? '');
    return written === '' ? await super.readMessage(...given) : written;
  }
}
