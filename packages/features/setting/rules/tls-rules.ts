import {
  booleanField,
  jsonObjectOf,
  objectField,
  SettingProblem,
  stringField,
  stringsField,
} from '@sheaf/api/setting/index';

const protocols = ['SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];

/** Protocols with blanks between them, ciphers in any form. */
export function sslParameters(text: string): void {
  const object = jsonObjectOf(text);
  stringField(object, 'ciphers');
  const given = stringField(object, 'protocols').split(' ');
  const unknown = given.find((protocol) => protocol !== '' && !protocols.includes(protocol));
  if (unknown !== undefined)
    throw new SettingProblem(`there is no protocol ${unknown}`, `Use ${protocols.join(', ')}.`);
}

const versions = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'];

const ellipticSuites = ['AES_128_CBC_SHA', 'AES_256_CBC_SHA', 'AES_128_GCM_SHA256', 'AES_256_GCM_SHA384'];
const suites = new Set([
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_RSA_WITH_RC4_128_SHA',
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'TLS_RSA_WITH_AES_256_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA',
  'TLS_ECDHE_RSA_WITH_RC4_128_SHA',
  'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_FALLBACK_SCSV',
  ...['ECDSA', 'RSA'].flatMap((signature) => [
    ...ellipticSuites.map((suite) => `TLS_ECDHE_${signature}_WITH_${suite}`),
    `TLS_ECDHE_${signature}_WITH_AES_128_CBC_SHA256`,
    `TLS_ECDHE_${signature}_WITH_CHACHA20_POLY1305`,
    `TLS_ECDHE_${signature}_WITH_CHACHA20_POLY1305_SHA256`,
  ]),
]);
const clientAuthTypes = [
  '',
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
];

/** How connections from outside are secured, in the words of Traefik. */
export function tlsOptions(text: string): void {
  const object = jsonObjectOf(text);
  const [min, max] = [rank(stringField(object, 'minVersion')), rank(stringField(object, 'maxVersion'))];
  if (min !== undefined && max !== undefined && min > max)
    throw new SettingProblem('minVersion is above maxVersion', 'Lower minVersion, or raise maxVersion.');
  booleanField(object, 'sniStrict');
  const unknown = stringsField(object, 'cipherSuites').find((suite) => !suites.has(suite));
  if (unknown !== undefined)
    throw new SettingProblem(
      `there is no cipher suite ${unknown}`,
      'Write its IANA name, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256.',
    );
  const clientAuth = objectField(object, 'clientAuth');
  stringsField(clientAuth, 'secretNames');
  if (!clientAuthTypes.includes(stringField(clientAuth, 'clientAuthType')))
    throw new SettingProblem(
      'clientAuth.clientAuthType is not known',
      `Use ${clientAuthTypes.slice(1).join(', ')}, or leave it empty.`,
    );
}

function rank(version: string): number | undefined {
  if (version === '') return undefined;
  const index = versions.indexOf(version);
  if (index >= 0) return index;
  throw new SettingProblem(`there is no version ${version}`, `Use ${versions.join(', ')}.`);
}
