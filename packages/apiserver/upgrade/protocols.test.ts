import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseProtocol, offerOf } from './protocols.ts';

describe('protocols of an upgrade', () => {
  it('are read from the headers of each', () => {
    assert.deepEqual(
      offerOf({
        upgrade: 'websocket',
        'sec-websocket-protocol': 'a, base64url.bearer.authorization.k8s.io.x,b',
      }),
      { via: 'websocket', protocols: ['a', 'b'] },
    );
    assert.deepEqual(
      offerOf({
        upgrade: 'SPDY/3.1',
        'x-stream-protocol-version': ['v4.channel.k8s.io', 'v3.channel.k8s.io'],
      }),
      { via: 'spdy', protocols: ['v4.channel.k8s.io', 'v3.channel.k8s.io'] },
    );
  });

  it("are the first of the client's that is known", () => {
    const websocket = (...protocols: string[]) => ({ via: 'websocket', protocols }) as const;
    const spdy = (...protocols: string[]) => ({ via: 'spdy', protocols }) as const;
    assert.equal(chooseProtocol('process', websocket('v9.x', 'v4.channel.k8s.io')), 'v4.channel.k8s.io');
    assert.equal(chooseProtocol('process', websocket()), undefined);
    assert.equal(chooseProtocol('bytes', websocket('whatever')), undefined);
    assert.equal(chooseProtocol('messages', websocket('whatever')), 'whatever');
    assert.equal(chooseProtocol('ports', spdy('portforward.k8s.io')), 'portforward.k8s.io');
    assert.equal(
      chooseProtocol('ports', websocket('SPDY/3.1+portforward.k8s.io')),
      'SPDY/3.1+portforward.k8s.io',
    );
  });

  it('are refused with those that there are', () => {
    assert.throws(
      () => chooseProtocol('process', { via: 'spdy', protocols: ['v9.channel.k8s.io'] }),
      /the client speaks v9\.channel\.k8s\.io; this server speaks v4\.channel\.k8s\.io, v3/,
    );
    assert.throws(() => chooseProtocol('bytes', { via: 'spdy', protocols: [] }), /open it as a WebSocket/);
    assert.throws(() => chooseProtocol('process', undefined), /Upgrade request required/);
  });
});
