/** The object without the fields that are `undefined`: for types in which a field is either there or not. */
export function definedFields<T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
