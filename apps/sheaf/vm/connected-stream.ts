import type { Client } from '@sheaf/client';

/** A console, a screen, a port: what `client.connect` resolves to. */
export type ConnectedStream = Awaited<ReturnType<Client['connect']>>;
