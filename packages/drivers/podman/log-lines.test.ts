import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineCutter, parseLogLine } from './log-lines.ts';

test('a log line is told in UTC with all its digits, and its content as it is', () => {
  const line = Buffer.from('2026-11-21T23:36:07.033152898+02:00 stderr P  two  blanks ');
  assert.deepEqual(parseLogLine(line), {
    time: '2026-11-21T21:36:07.033152898Z',
    stream: 'stderr',
    isPart: true,
    content: Buffer.from(' two  blanks '),
  });
  assert.equal(
    parseLogLine(Buffer.from('2026-11-21T23:36:07Z stdout F '))?.time,
    '2026-11-21T23:36:07.000000000Z',
  );
  for (const text of [
    '',
    'no time stdout F x',
    '2026-11-21T23:36:07Z stdin F x',
    '2026-11-21T23:36:07Z stdout',
  ])
    assert.equal(parseLogLine(Buffer.from(text)), undefined);
});

test('lines are cut wherever their bytes come apart', () => {
  const cutter = new LineCutter();
  const lines = ['a', 'b\n', '\nc', 'd\ne'].flatMap((part) => cutter.cut(Buffer.from(part)).map(String));
  assert.deepEqual(lines, ['ab', '', 'cd']);
});
