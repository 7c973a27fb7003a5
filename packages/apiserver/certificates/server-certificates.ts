import { type Clock, type Random, toError } from '@sheaf/base';
import type { CertificateFiles } from './certificate-files.ts';
import type { AlternativeNames } from './extensions.ts';
import { clientAuthentication, serverAuthentication } from './extensions.ts';
import {
  type Authority,
  coversNames,
  isIssuedBy,
  type KeyPair,
  type LeafContent,
  newKeyPair,
  newPrivateKeyPem,
  readKeyPair,
  renewalTime,
  toAuthority,
} from './key-pair.ts';

/** Everything the server proves itself with, and what it checks others against. */
export interface ServerCertificates {
  /** Signs the serving certificate and client certificates. */
  readonly authority: Authority;
  /** Signs the certificates of proxies that may speak for users (`X-Remote-*` headers). */
  readonly frontProxyAuthority: Authority;
  readonly serving: KeyPair;
  /** User `kubernetes-admin`, group `system:masters`. */
  readonly admin: KeyPair;
  /** What this server shows to aggregated API servers. */
  readonly frontProxyClient: KeyPair;
  /** The key service-account tokens are signed with, PKCS#8 PEM. */
  readonly serviceAccountKeyPem: string;
  /** Names of the pairs that were made in this call. */
  readonly created: readonly string[];
  /** When the first leaf certificate is due; milliseconds since 1970. */
  readonly renewAt: number;
}

export interface ServerCertificatesOptions {
  readonly files: CertificateFiles;
  readonly clock: Clock;
  readonly random: Random;
  readonly servingNames: AlternativeNames;
}

const dayMs = 24 * 3600_000;
const authorityLifeMs = 3650 * dayMs;
const leafLifeMs = 365 * dayMs;
/** Clients whose clocks are a little behind must not refuse a certificate that was made just now. */
const backdateMs = 5 * 60_000;

/**
 * Loads the server's keys and certificates and makes what is missing. A leaf certificate is replaced when it is past two
 * thirds of its life, belongs to another authority, cannot be read, or lacks a wanted name. Authorities are never replaced:
 * their loss would cut off every client. @throws Error if an authority is damaged or expired
 */
export async function openServerCertificates(
  options: ServerCertificatesOptions,
): Promise<ServerCertificates> {
  const workshop = new Workshop(options);
  const [authority, frontProxyAuthority, serviceAccountKeyPem] = await Promise.all([
    workshop.authority('ca', 'sheaf-ca'),
    workshop.authority('front-proxy-ca', 'sheaf-front-proxy-ca'),
    workshop.signingKey('service-account'),
  ]);
  const [serving, admin, frontProxyClient] = await Promise.all([
    workshop.leaf('apiserver', authority, {
      subject: { commonName: 'kube-apiserver', organizations: [] },
      purposes: [serverAuthentication],
      names: options.servingNames,
    }),
    workshop.leaf('admin', authority, {
      subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
      purposes: [clientAuthentication],
    }),
    workshop.leaf('front-proxy-client', frontProxyAuthority, {
      subject: { commonName: 'front-proxy-client', organizations: [] },
      purposes: [clientAuthentication],
    }),
  ]);
  const renewAt = Math.min(renewalTime(serving), renewalTime(admin), renewalTime(frontProxyClient));
  return {
    authority,
    frontProxyAuthority,
    serving,
    admin,
    frontProxyClient,
    serviceAccountKeyPem,
    created: workshop.created,
    renewAt,
  };
}

class Workshop {
  readonly created: string[] = [];
  readonly #options: ServerCertificatesOptions;
  readonly #now: number;

  constructor(options: ServerCertificatesOptions) {
    this.#options = options;
    this.#now = Math.floor(options.clock.now() / 1000) * 1000;
  }

  async authority(name: string, commonName: string): Promise<Authority> {
    const [certificatePem, privateKeyPem] = await this.#read(name);
    if (certificatePem === undefined) return this.#createAuthority(name, commonName);
    const authority = toAuthority(readAuthority(name, certificatePem, privateKeyPem));
    if (authority.notAfter <= this.#now) {
      throw new Error(
        `the certificate authority in ${name}.crt has expired: remove ${name}.crt and ${name}.key to make a new one, then hand out new kubeconfigs`,
      );
    }
    return authority;
  }

  async #createAuthority(name: string, commonName: string): Promise<Authority> {
    const content = this.#lifetime(authorityLifeMs, Number.POSITIVE_INFINITY);
    const subject = { commonName, organizations: [] };
    return toAuthority(await this.#create(name, { ...content, subject, isAuthority: true }));
  }

  async leaf(
    name: string,
    authority: Authority,
    content: Pick<LeafContent, 'subject' | 'purposes' | 'names'>,
  ): Promise<KeyPair> {
    const [certificatePem, privateKeyPem] = await this.#read(name);
    const present = findUsable(certificatePem, privateKeyPem);
    if (present && this.#isFit(present, authority, content.names)) return present;
    return this.#create(name, { ...content, ...this.#lifetime(leafLifeMs, authority.notAfter) }, authority);
  }

  async signingKey(name: string): Promise<string> {
    const present = await this.#options.files.read(`${name}.key`);
    if (present !== undefined) return present;
    const privateKeyPem = newPrivateKeyPem();
    await this.#options.files.write(`${name}.key`, privateKeyPem);
    this.created.push(name);
    return privateKeyPem;
  }

  #isFit(pair: KeyPair, authority: Authority, names: AlternativeNames | undefined): boolean {
    return (
      pair.notBefore <= this.#now &&
      renewalTime(pair) > this.#now &&
      isIssuedBy(pair, authority) &&
      (names === undefined || coversNames(pair, names))
    );
  }

  #lifetime(lifeMs: number, notAfter: number): { notBefore: number; notAfter: number } {
    return { notBefore: this.#now - backdateMs, notAfter: Math.min(this.#now + lifeMs, notAfter) };
  }

  #read(name: string): Promise<[string | undefined, string | undefined]> {
    return Promise.all([this.#options.files.read(`${name}.crt`), this.#options.files.read(`${name}.key`)]);
  }

  /** The key goes first: a certificate without its key never exists. */
  async #create(name: string, content: LeafContent, authority?: Authority): Promise<KeyPair> {
    const pair = newKeyPair(content, authority, this.#options.random);
    await this.#options.files.write(`${name}.key`, pair.privateKeyPem);
    await this.#options.files.write(`${name}.crt`, pair.certificatePem);
    this.created.push(name);
    return pair;
  }
}

function readAuthority(name: string, certificatePem: string, privateKeyPem: string | undefined): KeyPair {
  if (privateKeyPem === undefined) {
    throw new Error(
      `${name}.crt has no ${name}.key: put the key back, or remove ${name}.crt to make a new authority`,
    );
  }
  try {
    return readKeyPair(certificatePem, privateKeyPem);
  } catch (error) {
    throw new Error(
      `${name}.crt and ${name}.key cannot be used (${toError(error).message}): restore them from a backup, or remove both to make a new authority`,
      { cause: error },
    );
  }
}

function findUsable(
  certificatePem: string | undefined,
  privateKeyPem: string | undefined,
): KeyPair | undefined {
  if (certificatePem === undefined || privateKeyPem === undefined) return undefined;
  try {
    return readKeyPair(certificatePem, privateKeyPem);
  } catch {
    // A damaged leaf is replaced; nothing depends on the old one.
    return undefined;
  }
}
