/** What programs of this host are made for, in the words of container images: `linux/amd64`. */
export function hostPlatform(): string {
  return `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
}
