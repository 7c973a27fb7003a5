import { textOf } from './jwt.ts';
import type { SigningKeys } from './signing-keys.ts';

/** `Cache-Control` of both documents. */
export const discoveryCacheControl = 'public, max-age=3600';

/** `/.well-known/openid-configuration`, content type `application/json`. `jwksUri` must be reachable by others. */
export function openidConfiguration(issuer: string, jwksUri: string, keys: SigningKeys): string {
  const algorithms = [...new Set(keys.publicKeys().map((key) => textOf(key['alg'])))].sort();
  return JSON.stringify({
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: algorithms,
  });
}

/** `/openid/v1/jwks`, content type `application/jwk-set+json`. */
export function jsonWebKeySet(keys: SigningKeys): string {
  return JSON.stringify({ keys: keys.publicKeys() });
}
