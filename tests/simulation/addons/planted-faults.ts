import type { RequestTamper } from '@sheaf/testkit';

/** What can be put into add-ons on purpose: it must be found. */
export const plantedFaults = ['comparesTimes', 'forgetsBinding'] as const;

export type PlantedFault = (typeof plantedFaults)[number];

const tampers: Partial<Record<PlantedFault, RequestTamper>> = {
  /** What has no namespace stays when its chart goes: another one is asked for instead. */
  forgetsBinding: (request) => {
    if (request.method !== 'DELETE' || !request.target.includes('/clusterrolebindings/')) return request;
    return { ...request, target: request.target.replace('/helm-', '/none-') };
  },
};

export function tamperOf(planted: ReadonlySet<PlantedFault>): RequestTamper | undefined {
  const chosen = [...planted].map((name) => tampers[name]).filter((tamper) => tamper !== undefined);
  if (chosen.length === 0) return undefined;
  return (request) => chosen.reduce((changed, tamper) => tamper(changed), request);
}
