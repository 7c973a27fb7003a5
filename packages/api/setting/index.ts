export * from './json-fields.ts';
export * from './machine-settings.ts';
export * from './number-texts.ts';
export * from './setting-format.ts';
export * from './setting-problem.ts';
