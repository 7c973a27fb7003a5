import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyAnswer } from './answer.ts';
import { ExtensionSet } from './extension-set.ts';
import type { ExtensionEndpoint } from './group.ts';
import type { Route } from './route.ts';

const handle = () => emptyAnswer(204);
const group = (...names: string[]) => ({
  group: 'g',
  version: 'v1',
  endpoints: names.map(
    (subresource): ExtensionEndpoint => ({ resource: 'r', subresource, verbs: ['get'], handle }),
  ),
});
const route = (path: string, action?: string): Route => ({
  method: 'POST',
  path,
  access: 'public',
  ...(action ? { action } : {}),
  handle,
});

describe('what features add to the API', () => {
  it('joins the endpoints of one group version', () => {
    const set = new ExtensionSet();
    set.addGroup(group('a'));
    set.addGroup(group('b'));
    assert.deepEqual(
      set.groups.map(({ endpoints }) => endpoints.map(({ subresource }) => subresource)),
      [['a', 'b']],
    );
  });

  it('holds each place once', () => {
    const set = new ExtensionSet();
    set.addGroup(group('a'));
    assert.throws(() => set.addGroup(group('a')), /r\/a of g\/v1 is served already/);
    set.addRoute(route('/v1/{x}', 'start'));
    set.addRoute(route('/v1/{x}', 'stop'));
    set.addRoute(route('/v1/{x...}', 'start'));
    assert.throws(() => set.addRoute(route('/v1/{y}', 'start')), /served already/);
    const rule = { name: 'one', targets: [], operations: [] };
    set.addAdmission(rule);
    assert.throws(() => set.addAdmission(rule), /there is an admission rule one already/);
  });

  it("leaves the server's own paths alone", () => {
    for (const path of ['/apis/g/v1/x', '/api', '/healthz', '/sheaf/v1/backup', 'v1'])
      assert.throws(() => new ExtensionSet().addRoute(route(path)), /cannot be a route/);
    new ExtensionSet().addRoute(route('/apiui'));
  });
});
