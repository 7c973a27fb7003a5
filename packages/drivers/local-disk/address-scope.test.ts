import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddressScope, mayRedirect, scopeOf } from './address-scope.ts';

test('address scope: every way to write an address that is not public is seen through', () => {
  const expected: Readonly<Record<AddressScope, readonly string[]>> = {
    public: [
      '93.184.216.34',
      '8.8.8.8',
      '172.32.0.1',
      '2606:4700::1111',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
    ],
    private: [
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      'fd12::1',
      '::ffff:10.0.0.1',
    ],
    'link-local': [
      '169.254.169.254',
      'fe80::1%eth0',
      '::ffff:a9fe:a9fe',
      '64:ff9b::a9fe:a9fe',
      'fd00:ec2::254',
    ],
    loopback: ['127.0.0.1', '127.9.9.9', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '2002:7f00:1::'],
  };
  for (const [scope, addresses] of Object.entries(expected))
    for (const address of addresses) assert.equal(scopeOf(address), scope, address);
});

test('address scope: a redirect never leads further inside', () => {
  const order: readonly AddressScope[] = ['public', 'private', 'link-local', 'loopback'];
  for (const [inner, from] of order.entries())
    for (const [outer, to] of order.entries())
      assert.equal(mayRedirect(from, to), outer <= inner, `${from} to ${to}`);
});
