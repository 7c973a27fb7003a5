/** Numbers of the types of records that have a name here. */
export const typeNumbers = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  ANY: 255,
} as const;

/** Of what a client can take; a record that is none. */
export const optionType = 41;
export const internetClass = 1;

const typeNames = new Map<number, string>(
  Object.entries(typeNumbers).map(([name, number]) => [number, name]),
);

export function typeName(number: number): string {
  return typeNames.get(number) ?? `TYPE${number}`;
}

export const responseCodes = {
  done: 0,
  malformed: 1,
  failed: 2,
  absent: 3,
  notImplemented: 4,
  refused: 5,
} as const;
export type ResponseCode = (typeof responseCodes)[keyof typeof responseCodes];
