import type { Signature } from '../library/overload.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listOf,
  mapOf,
  optionalOf,
  stringType,
  timestampType,
  typeParam,
  uintType,
} from './type.ts';

const paramA = typeParam('A');
const paramB = typeParam('B');
const listA = listOf(paramA);
const mapAB = mapOf(paramA, paramB);
const numbers = [intType, uintType, doubleType];

function signature(params: readonly CelType[], result: CelType): Signature {
  return { isMember: false, params, result };
}

function same(...types: readonly CelType[]): Signature[] {
  return types.map((type) => signature([type, type], type));
}

function comparisons(): Signature[] {
  const mixed = numbers.flatMap((left) => numbers.map((right) => signature([left, right], boolType)));
  const others = [boolType, stringType, bytesType, timestampType, durationType];
  return [...mixed, ...others.map((type) => signature([type, type], boolType))];
}

const equality = [signature([paramA, paramA], boolType)];
const compared = comparisons();

/** The signatures of the operators; `&&` and `||` are checked on their own. */
export const operatorSignatures: ReadonlyMap<string, readonly Signature[]> = new Map([
  ['_==_', equality],
  ['_!=_', equality],
  ['_<_', compared],
  ['_<=_', compared],
  ['_>_', compared],
  ['_>=_', compared],
  ['!_', [signature([boolType], boolType)]],
  ['-_', [intType, doubleType].map((type) => signature([type], type))],
  [
    '_+_',
    [
      ...same(bytesType, doubleType, durationType, intType, stringType, uintType, listA),
      signature([durationType, timestampType], timestampType),
      signature([timestampType, durationType], timestampType),
    ],
  ],
  [
    '_-_',
    [
      ...same(doubleType, durationType, intType, uintType),
      signature([timestampType, durationType], timestampType),
      signature([timestampType, timestampType], durationType),
    ],
  ],
  ['_*_', same(doubleType, intType, uintType)],
  ['_/_', same(doubleType, intType, uintType)],
  ['_%_', same(intType, uintType)],
  ['_?_:_', [signature([boolType, paramA, paramA], paramA)]],
  ['@in', [signature([paramA, listA], boolType), signature([paramA, mapAB], boolType)]],
  [
    '_[_]',
    [
      signature([listA, intType], paramA),
      signature([mapAB, paramA], paramB),
      signature([optionalOf(listA), intType], optionalOf(paramA)),
      signature([optionalOf(mapAB), paramA], optionalOf(paramB)),
    ],
  ],
  [
    '_[?_]',
    [
      signature([listA, intType], optionalOf(paramA)),
      signature([optionalOf(listA), intType], optionalOf(paramA)),
      signature([mapAB, paramA], optionalOf(paramB)),
      signature([optionalOf(mapAB), paramA], optionalOf(paramB)),
    ],
  ],
]);
