import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyAnswer, type Route } from '@sheaf/api';
import { RouteTable } from './route-table.ts';

function route(path: string, action?: string): Route {
  return {
    method: 'POST',
    path,
    access: 'authenticated',
    ...(action === undefined ? {} : { action }),
    handle: () => emptyAnswer(204),
  };
}

const table = new RouteTable([
  route('/v1/{type...}'),
  route('/v1/{type}/{name}'),
  route('/v1/machines/{name}'),
  route('/v1/machines/{name}', 'start'),
  route('/v1/machines/first'),
]);

function found(path: string, action: string | null = null): unknown {
  const match = table.find('POST', path, action);
  return match && [match.route.path, match.route.action, { ...match.parameters }];
}

describe('routes', () => {
  it('prefer words to parameters and parameters to the rest, from the left', () => {
    assert.deepEqual(found('/v1/machines/first'), ['/v1/machines/first', undefined, {}]);
    assert.deepEqual(found('/v1/machines/x'), ['/v1/machines/{name}', undefined, { name: 'x' }]);
    assert.deepEqual(found('/v1/disks/x'), ['/v1/{type}/{name}', undefined, { type: 'disks', name: 'x' }]);
    assert.deepEqual(found('/v1/a/b/c'), ['/v1/{type...}', undefined, { type: 'a/b/c' }]);
  });

  it('tell actions of one path apart', () => {
    assert.deepEqual(found('/v1/machines/x', 'start'), ['/v1/machines/{name}', 'start', { name: 'x' }]);
    assert.deepEqual(found('/v1/machines/x', 'fly'), ['/v1/machines/{name}', undefined, { name: 'x' }]);
  });

  it('decode parameters, and know no place that is not well written', () => {
    assert.deepEqual(found('/v1/machines/a%2Fb'), ['/v1/machines/{name}', undefined, { name: 'a/b' }]);
    assert.equal(found('/v1/machines/%E0%A4'), undefined);
    assert.deepEqual(found('/v1/machines/'), ['/v1/{type...}', undefined, { type: 'machines/' }]);
    assert.equal(found('/v1'), undefined);
    assert.equal(table.find('GET', '/v1/machines/x', null), undefined);
  });
});
