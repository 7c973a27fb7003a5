import type { Operation, Parameter, PathDescription } from './operation.ts';

/** A path whose operations share what all of them have: those parameters are told once, beside `always`. */
export function hoisted(
  path: string,
  operations: readonly Operation[],
  always: readonly Parameter[],
): PathDescription {
  const [first, ...others] = operations;
  const common = (first?.parameters ?? []).filter(({ key }) =>
    others.every((operation) => operation.parameters.some((parameter) => parameter.key === key)),
  );
  const keys = new Set(common.map(({ key }) => key));
  return {
    path,
    parameters: sorted([...always, ...common]),
    operations: operations.map((operation) => ({
      ...operation,
      parameters: sorted(operation.parameters.filter(({ key }) => !keys.has(key))),
    })),
  };
}

function sorted(parameters: readonly Parameter[]): readonly Parameter[] {
  const order = ({ name, in: place }: Parameter): string => `${name} ${place}`;
  return [...parameters].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
