import type { ExtensionSet, KubeObject } from '@sheaf/api';
import {
  customResourceDefinitions,
  type KindDefinition,
  kindDefinitions,
} from '@sheaf/api/virtualization/kind-definitions';
import { isJsonObject, type JsonObject, type JsonValue, silentLogger } from '@sheaf/base';
import { DirectoryBundles } from '@sheaf/drivers/bundle';
import { UploadDesk } from '@sheaf/features/vm-image';
import type { Bundles, ContainerImages, Containers } from '@sheaf/ports';
import { SeededRandom, TestClock } from '@sheaf/testkit';
import {
  SimulatedContainerHost,
  SimulatedContainerImages,
  SimulatedContainers,
} from '@sheaf/testkit/containers/index';
import { SimulatedHost, SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';
import { openSimulatedDisk, SimulatedMedium } from '@sheaf/testkit/volumes/index';
import { featureExtensions } from '../../apps/sheaf/extensions.ts';

/** What the features add to the API, put together as `sheaf up` does it, over a simulated host. */
export function servedExtensions(): ExtensionSet {
  const clock = new TestClock();
  const random = new SeededRandom(1);
  const disk = openSimulatedDisk({ clock, random, medium: new SimulatedMedium() });
  return featureExtensions({
    handle: () => Promise.reject(new Error('nothing is asked here')),
    environment: {},
    clock,
    random,
    host: {
      nodeName: 'node',
      workloads: simulatedContainers(clock, random),
      hypervisor: new SimulatedHypervisor(new SimulatedHost({ clock, random })),
      images: disk.images,
      uploads: new UploadDesk({ images: disk.images, clock }),
    },
  });
}

function simulatedContainers(
  clock: TestClock,
  random: SeededRandom,
): { readonly containers: Containers; readonly images: ContainerImages; readonly bundles: Bundles } {
  const host = new SimulatedContainerHost({ clock, random });
  const images = new SimulatedContainerImages(host);
  const [directory, charts, tools] = ['/nonexistent/bundles', '/nonexistent/charts', '/nonexistent/tools'];
  const places = { directory, charts, tools, hasProgram: () => false };
  const bundles = new DirectoryBundles({ ...places, images, clock, logger: silentLogger });
  return { containers: new SimulatedContainers(host), images, bundles };
}

/** Each request that they serve: `POST /v1/…?action=start`, `GROUP virtualmachines/start`, `core pods/exec`. Names in the singular are left out. */
export function servedRequests({ routes, groups }: ExtensionSet): readonly string[] {
  const paths = new Set(routes.map(({ path }) => path));
  const pluralOf = (path: string): string => path.replace(/^(\/v1\/harvester\/[^/]*[^/s])(?=\/|$)/, '$1s');
  const ofRoutes = routes
    .filter(({ path }) => pluralOf(path) === path || !paths.has(pluralOf(path)))
    .map(({ method, path, action }) => `${method} ${path}${action === undefined ? '' : `?action=${action}`}`);
  const ofGroups = groups.flatMap(({ group, endpoints }) =>
    endpoints.map(({ resource, subresource }) =>
      [`${group || 'core'} ${resource}`, ...(subresource === undefined ? [] : [subresource])].join('/'),
    ),
  );
  return [...new Set([...ofRoutes, ...ofGroups])];
}

/** The columns of each kind, by its name. */
export function servedColumns(): ReadonlyMap<string, string> {
  return new Map(kindDefinitions().map((definition) => [definition.name, columnsOf(definition)]));
}

function columnsOf({ spec }: KindDefinition): string {
  const columns = storedVersion(spec)['additionalPrinterColumns'];
  if (!Array.isArray(columns)) return '';
  const names = columns.filter(isJsonObject).map(({ name }) => name);
  return names.filter((name) => typeof name === 'string').join(', ');
}

function storedVersion(spec: unknown): JsonObject {
  const versions = (spec as { readonly versions?: JsonValue } | undefined)?.versions;
  if (!Array.isArray(versions)) return {};
  return versions.filter(isJsonObject).find(({ storage }) => storage === true) ?? {};
}

/** The fields at paths of kinds, as their schemas have them. */
export class ServedSchemas {
  readonly #definitions: ReadonlyMap<string, KubeObject>;

  constructor() {
    const definitions = customResourceDefinitions(kindDefinitions());
    this.#definitions = new Map(definitions.map((each) => [each.metadata.name ?? '', each]));
  }

  fieldsAt(kind: string, path: string): readonly string[] {
    const { schema } = storedVersion(this.#definitions.get(kind)?.['spec']);
    const root = isJsonObject(schema) ? schema['openAPIV3Schema'] : undefined;
    const found = path.split('.').reduce((at: JsonValue | undefined, name) => childOf(at, name), root);
    return Object.keys(propertiesOf(found));
  }
}

function childOf(schema: JsonValue | undefined, name: string): JsonValue | undefined {
  return propertiesOf(schema)[name];
}

/** Of the items, where it is a list. */
function propertiesOf(schema: JsonValue | undefined): JsonObject {
  if (!isJsonObject(schema)) return {};
  if (isJsonObject(schema['items'])) return propertiesOf(schema['items']);
  return isJsonObject(schema['properties']) ? schema['properties'] : {};
}
