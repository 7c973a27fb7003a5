import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StatusError } from '@sheaf/base';
import fc from 'fast-check';
import {
  escapeFieldValue,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredField,
} from './field-selectors.ts';
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from './names.ts';
import {
  formatLabelSelector,
  labelMatcherOf,
  matchesLabels,
  parseLabelSelector,
  requiredLabel,
} from './selectors.ts';

interface Answer {
  text?: string;
  strict?: string[];
  error?: string;
}

function recorded(file: string): [{ text: string; kind?: string }, Answer][] {
  const text = readFileSync(join(import.meta.dirname, 'fixtures', file), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [{ text: string; kind?: string }, Answer]);
}

function answer(read: () => string): Answer {
  try {
    const text = read();
    return text === '' ? {} : { text };
  } catch (error) {
    assert.ok(StatusError.is(error, 'BadRequest'), String(error));
    return { error: error.message };
  }
}

test('label selectors read and print as recorded from Go', () => {
  for (const [{ text }, expected] of recorded('labels.jsonl')) {
    assert.deepEqual(
      answer(() => formatLabelSelector(parseLabelSelector(text))),
      expected,
      JSON.stringify(text),
    );
  }
});

test('field selectors read and print as recorded from Go', () => {
  for (const [{ text }, expected] of recorded('fields.jsonl')) {
    assert.deepEqual(
      answer(() => formatFieldSelector(parseFieldSelector(text))),
      expected,
      JSON.stringify(text),
    );
  }
});

test('names are judged as recorded from Go', () => {
  const checks: Record<string, (text: string) => string[]> = {
    subdomain: dns1123SubdomainErrors,
    label: dns1123LabelErrors,
    service: dns1035LabelErrors,
    qualified: qualifiedNameErrors,
    value: labelValueErrors,
  };
  for (const [{ text, kind = '' }, { strict = [] }] of recorded('names.jsonl')) {
    assert.deepEqual(checks[kind]?.(text), strict, `${kind} ${text}`);
  }
});

test('labels match', () => {
  const labels = { app: 'web', tier: 'front', n: '5' };
  const cases: Record<string, boolean> = {
    '': true,
    'app=web': true,
    'app==web,tier!=back': true,
    'app in (a,web),tier notin (x)': true,
    'missing notin (x)': true,
    'missing!=x': true,
    missing: false,
    '!missing': true,
    '!app': false,
    app: true,
    'n>4': true,
    'n<5': false,
    'app>4': false,
    constructor: false,
  };
  for (const text in cases) assert.equal(matchesLabels(parseLabelSelector(text), labels), cases[text], text);
  assert.equal(matchesLabels(parseLabelSelector('!a'), undefined), true);
});

test('selectors in objects match, and none matches nothing', () => {
  const labels = { app: 'web' };
  assert.equal(matchesLabels(labelMatcherOf(undefined), labels), false);
  assert.equal(matchesLabels(labelMatcherOf({}), labels), true);
  const matcher = labelMatcherOf({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'DoesNotExist' },
      { key: 'app', operator: 'In', values: ['x', 'web'] },
    ],
  });
  assert.equal(matchesLabels(matcher, labels), true);
  assert.equal(requiredLabel(matcher, 'app'), 'web');
  assert.throws(() => labelMatcherOf({ matchExpressions: [{ key: 'a', operator: 'Like' }] }), {
    message: '"Like" is not a valid label selector operator',
  });
});

test('fields match', () => {
  const read = (field: string): string => (field === 'metadata.name' ? 'x,y' : '');
  const selector = parseFieldSelector('metadata.name=x\\,y,status.phase!=Running');
  assert.equal(matchesFields(selector, read), true);
  assert.equal(requiredField(selector, 'metadata.name'), 'x,y');
  assert.equal(requiredField(selector, 'status.phase'), undefined);
});

test('values of field selectors survive escaping', () => {
  const check = fc.property(fc.string(), (value) => {
    assert.equal(requiredField(parseFieldSelector(`a=${escapeFieldValue(value)}`), 'a'), value);
  });
  fc.assert(check, { numRuns: 200 });
});

test('any text is a selector, whose print reads the same, or a bad request', () => {
  const unit = fc.constantFrom(...'ab/.-_()!=<>, \\1'.split(''), 'in', 'notin', 'exists');
  const check = fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
    try {
      const printed = formatLabelSelector(parseLabelSelector(text));
      assert.equal(formatLabelSelector(parseLabelSelector(printed)), printed);
    } catch (error) {
      assert.ok(StatusError.is(error, 'BadRequest'), String(error));
    }
  });
  fc.assert(check, { numRuns: 500 });
});

test('long names and selectors are judged quickly', () => {
  assert.equal(dns1123SubdomainErrors(`${'a-'.repeat(100_000)}!`).length, 2);
  assert.throws(() => parseLabelSelector('a,'.repeat(1_000_000)), /longer than/);
});
