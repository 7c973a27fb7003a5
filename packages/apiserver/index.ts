export { type DiscoveryOptions } from './discovery/discovery-paths.ts';
export { HttpServer, type HttpServerOptions } from './http/http-server.ts';
export type * from './pipeline/api-request.ts';
export { type ApiServerOptions, type OpenApiServer, openApiServer } from './server/open-api-server.ts';
