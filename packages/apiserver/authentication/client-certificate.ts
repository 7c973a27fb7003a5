import type { CertificateTrust, TrustedCertificate } from './certificate-trust.ts';
import { extraHeaders, headerValues } from './read-credentials.ts';
import type { AuthenticationResult, Authenticator, Credentials, User } from './user.ts';

/** Common name = user, organizations = groups, and the certificate's fingerprint as credential id. */
export function clientCertificateAuthenticator(trust: CertificateTrust): Authenticator {
  const users = new WeakMap<TrustedCertificate, User>();
  return {
    authenticate(credentials: Credentials): AuthenticationResult {
      if (!credentials.clientCertificate) return undefined;
      const checked = trust.check(credentials.clientCertificate);
      if ('objection' in checked) return { invalid: checked.objection };
      if (checked.subject.commonName === '') return undefined;
      if (checked.subject.uid === '') return { invalid: 'the uid in the client certificate is empty' };
      let user = users.get(checked);
      if (!user) users.set(checked, (user = toUser(checked)));
      return { user };
    },
  };
}

function toUser({ subject, fingerprint }: TrustedCertificate): User {
  return {
    name: subject.commonName,
    ...(subject.uid !== undefined && { uid: subject.uid }),
    groups: subject.organizations,
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  };
}

export interface FrontProxyOptions {
  /** The front proxies' own authority. */
  readonly trust: CertificateTrust;
  /** Common names that may speak for users; empty: all that the authority signed. */
  readonly allowedNames: readonly string[];
}

/** A proxy that is trusted by its certificate names the user in `X-Remote-User`, `-Uid`, `-Group` and `-Extra-*`. */
export function frontProxyAuthenticator(options: FrontProxyOptions): Authenticator {
  return {
    authenticate({ clientCertificate, headers }: Credentials): AuthenticationResult {
      if (!clientCertificate) return undefined;
      const name = first(headers, 'x-remote-user');
      if (name === '') return undefined;
      const checked = options.trust.check(clientCertificate);
      // The certificate may be an ordinary client's: the next authenticator judges it, and the headers mean nothing.
      if ('objection' in checked) return undefined;
      const proxy = checked.subject.commonName;
      if (options.allowedNames.length > 0 && !options.allowedNames.includes(proxy)) {
        return { invalid: `x509: subject with cn=${proxy} is not in the allowed list` };
      }
      return { user: userOfHeaders(name, headers) };
    },
  };
}

function userOfHeaders(name: string, headers: Credentials['headers']): User {
  const uid = first(headers, 'x-remote-uid');
  const extra = extraHeaders(headers, 'x-remote-extra-');
  return {
    name,
    ...(uid !== '' && { uid }),
    groups: headerValues(headers, 'x-remote-group').filter((group) => group !== ''),
    ...(extra && { extra }),
  };
}

function first(headers: Credentials['headers'], name: string): string {
  return headerValues(headers, name)[0] ?? '';
}
