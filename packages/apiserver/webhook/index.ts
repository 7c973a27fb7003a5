export { conversionByWebhook } from './conversion-webhook.ts';
export { WebhookCaller, type WebhookCallOptions } from './webhook-caller.ts';
export type * from './webhook-client.ts';
