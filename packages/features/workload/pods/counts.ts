/** A field of a status: a count of zero is left out. */
export function some<Name extends string>(name: Name, count: number): { readonly [Key in Name]?: number } {
  return (count > 0 ? { [name]: count } : {}) as { readonly [Key in Name]?: number };
}
