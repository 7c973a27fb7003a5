import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressesOf } from './host-addresses.ts';
import { loadOf, osImageOf, uptimeOf } from './proc-texts.ts';

describe('what a kernel says of its host', () => {
  it('is read from its texts', () => {
    assert.deepEqual(
      [
        osImageOf('NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'),
        osImageOf("PRETTY_NAME='One'"),
        osImageOf('PRETTY_NAME=Two\nID=two'),
        osImageOf('ID=three'),
        loadOf('0.20 0.18 0.12 1/80 11206'),
        loadOf('nothing'),
        uptimeOf('350735.47 234388.90'),
        uptimeOf(''),
      ],
      ['Debian GNU/Linux 12 (bookworm)', 'One', 'Two', undefined, 80, undefined, 350_735.47, undefined],
    );
  });

  it('are its addresses, without those that nobody outside can use', () => {
    const of = (address: string, internal = false) => ({
      address,
      internal,
      family: address.includes(':') ? 'IPv6' : 'IPv4',
    });
    assert.deepEqual(
      addressesOf({
        lo: [of('127.0.0.1', true), of('::1', true)],
        docker0: [of('172.17.0.1')],
        eth0: [of('fe80::1'), of('2001:db8::7'), of('192.0.2.7')],
        eth1: [of('169.254.3.4'), of('198.51.100.7')],
        down: undefined,
      }),
      [
        { family: 'IPv4', address: '192.0.2.7' },
        { family: 'IPv4', address: '198.51.100.7' },
        { family: 'IPv6', address: '2001:db8::7' },
      ],
    );
  });
});
