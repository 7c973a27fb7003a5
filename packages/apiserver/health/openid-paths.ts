import {
  discoveryCacheControl,
  jsonWebKeySet,
  openidConfiguration,
  type SigningKeys,
} from '../authentication/index.ts';
import type { ApiResponse } from '../pipeline/api-request.ts';
import type { PathContext, PathHandler } from '../pipeline/path-handler.ts';
import { headerOf } from '../pipeline/request-context.ts';
import { bytesResponse, textResponse } from '../pipeline/responses.ts';
import { parseAccept } from '../representation/media-types.ts';

export interface OpenidOptions {
  readonly issuer: string;
  readonly keys: SigningKeys;
  /** `host:port` under which others fetch the keys. */
  readonly serverAddress: () => string;
}

export const openidConfigurationPath = '/.well-known/openid-configuration';
export const keySetPath = '/openid/v1/jwks';

/** How others verify the tokens of service accounts. Each document has one media type; anything else is refused. */
export function openidPaths({ issuer, keys, serverAddress }: OpenidOptions): PathHandler {
  return (context) => {
    if (context.info.path === openidConfigurationPath)
      return answer(context, 'application/json', () =>
        openidConfiguration(issuer, `https://${serverAddress()}${keySetPath}`, keys),
      );
    if (context.info.path === keySetPath)
      return answer(context, 'application/jwk-set+json', () => jsonWebKeySet(keys));
    return undefined;
  };
}

function answer(context: PathContext, mediaType: string, make: () => string): ApiResponse {
  const accepted = parseAccept(headerOf(context.request, 'accept'));
  if (!accepted.some(({ type }) => type === mediaType || type === '*/*' || type === 'application/*'))
    return textResponse(406, `406: Not Acceptable\n\nAvailable representations: ${mediaType}`);
  const response = bytesResponse(200, mediaType, Buffer.from(make()));
  response.headers['cache-control'] = discoveryCacheControl;
  return response;
}
