export { HttpsWebhookClient, type HttpsWebhookTarget } from './https-webhook-client.ts';
