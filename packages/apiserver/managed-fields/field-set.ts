import { type FieldPath, type PathElement, sortElements } from './field-path.ts';

/**
 * A set of field paths, kept in the shape of FieldsV1 itself so that reading and writing it costs nothing: a node without keys is a
 * member, a node with the key `.` is a member that has members below, any other node is only on the way. Keys are in canonical order.
 * The root is never a member. Sets are never changed; operations share what stays the same and answer the very same set if nothing
 * changes.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

/** A member without members below. */
export const leaf: FieldSet = Object.freeze({});

export const emptySet: FieldSet = leaf;

type MutableSet = Record<PathElement, FieldSet>;

function hasKeys(node: FieldSet): boolean {
  for (const _ in node) return true;
  return false;
}

/** Of a whole set: no members. */
export function isEmptySet(set: FieldSet): boolean {
  return !hasKeys(set);
}

/** Of a node below the root: whether its own path is in the set. */
export function isMember(node: FieldSet): boolean {
  return !hasKeys(node) || node['.'] !== undefined;
}

/** The node with its own path in the set as well. */
export function asMember(node: FieldSet): FieldSet {
  return isMember(node) ? node : { '.': leaf, ...node };
}

export function hasPath(set: FieldSet, path: FieldPath): boolean {
  if (path.length === 0) return false;
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node?.[element];
    if (node === undefined) return false;
  }
  return isMember(node);
}

/** What is in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  return isEmptySet(a) ? b : unionNodes(a, b);
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  const changed: MutableSet = {};
  let added: PathElement[] | undefined;
  let isChanged = false;
  for (const key in b) {
    const right = b[key] as FieldSet;
    const left = a[key];
    const joined = left === undefined ? right : joinNodes(left, right);
    if (joined === left) continue;
    changed[key] = joined;
    isChanged = true;
    if (left === undefined) (added ??= []).push(key);
  }
  if (!isChanged) return a;
  if (added === undefined) return { ...a, ...changed };
  return sortedNode({ ...a, ...changed });
}

/** Of two nodes for the same path. */
export function joinNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (!hasKeys(a)) return asMember(b);
  return hasKeys(b) ? unionNodes(a, b) : asMember(a);
}

function sortedNode(node: FieldSet): FieldSet {
  const sorted: MutableSet = {};
  for (const key of sortElements(Object.keys(node))) sorted[key] = node[key] as FieldSet;
  return sorted;
}

/** What is in the first set and not in the second. A parent is not its children: taking one away leaves the other. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(a) || isEmptySet(b) ? a : (differenceNodes(a, b, keptChild) ?? emptySet);
}

/** As {@link difference}, but a path taken away takes everything below it away. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(a) || isEmptySet(b) ? a : (differenceNodes(a, b, keptSubtree) ?? emptySet);
}

/** What remains of the child `left` when `right` is taken away; undefined if nothing. */
type ChildDifference = (left: FieldSet, right: FieldSet) => FieldSet | undefined;

function keptChild(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (!hasKeys(left)) return isMember(right) ? undefined : left;
  if (hasKeys(right)) return differenceNodes(left, right, keptChild);
  return withoutSelf(left);
}

function keptSubtree(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (isMember(right)) return undefined;
  return hasKeys(left) ? differenceNodes(left, right, keptSubtree) : left;
}

function withoutSelf(node: FieldSet): FieldSet | undefined {
  if (node['.'] === undefined) return node;
  const { '.': _, ...children } = node;
  return children;
}

function differenceNodes(a: FieldSet, b: FieldSet, childDifference: ChildDifference): FieldSet | undefined {
  let changed: Map<PathElement, FieldSet | undefined> | undefined;
  for (const key in b) {
    const left = a[key];
    if (left === undefined) continue;
    const kept = childDifference(left, b[key] as FieldSet);
    if (kept !== left) (changed ??= new Map()).set(key, kept);
  }
  return changed === undefined ? a : rebuild(a, changed);
}

/** The node with some children replaced or (undefined) dropped. Undefined if nothing is left. */
function rebuild(
  node: FieldSet,
  changed: ReadonlyMap<PathElement, FieldSet | undefined>,
): FieldSet | undefined {
  const rebuilt: MutableSet = {};
  let only: PathElement | undefined;
  let count = 0;
  for (const key in node) {
    const child = changed.has(key) ? changed.get(key) : node[key];
    if (child === undefined) continue;
    rebuilt[key] = child;
    only = key;
    count++;
  }
  if (count === 0) return undefined;
  return count === 1 && only === '.' ? leaf : rebuilt;
}

/** What is in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(a)) return a;
  return isEmptySet(b) ? emptySet : (intersectNodes(a, b) ?? emptySet);
}

function intersectNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const shared: MutableSet = {};
  let only: PathElement | undefined;
  let count = 0;
  for (const key in a) {
    const right = b[key];
    const child = right === undefined ? undefined : intersectChildren(a[key] as FieldSet, right);
    if (child === undefined) continue;
    shared[key] = child;
    only = key;
    count++;
  }
  if (count === 0) return undefined;
  return count === 1 && only === '.' ? leaf : shared;
}

function intersectChildren(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return a;
  if (!hasKeys(a)) return isMember(b) ? leaf : undefined;
  if (!hasKeys(b)) return isMember(a) ? leaf : undefined;
  return intersectNodes(a, b);
}

/** The members that have no members below. */
export function leavesOf(set: FieldSet): FieldSet {
  const leaves: MutableSet = {};
  for (const key in set) if (key !== '.') leaves[key] = leavesOf(set[key] as FieldSet);
  return leaves;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  for (const key in a) {
    const right = b[key];
    if (right === undefined || !equalSets(a[key] as FieldSet, right)) return false;
  }
  for (const key in b) if (a[key] === undefined) return false;
  return true;
}

/** The paths of a set: at each level the members first, then what is below them. */
export function pathsOf(set: FieldSet): FieldPath[] {
  const paths: FieldPath[] = [];
  collectPaths(set, [], paths);
  return paths;
}

function collectPaths(node: FieldSet, prefix: FieldPath, paths: FieldPath[]): void {
  for (const key in node) {
    if (key !== '.' && isMember(node[key] as FieldSet)) paths.push([...prefix, key]);
  }
  for (const key in node) {
    if (key !== '.') collectPaths(node[key] as FieldSet, [...prefix, key], paths);
  }
}

/** A set under construction; see {@link insertPath} and {@link finishSet}. */
export interface SetDraft {
  isMember: boolean;
  children: Map<PathElement, SetDraft> | undefined;
}

export function newDraft(): SetDraft {
  return { isMember: false, children: undefined };
}

/** Adds one path; its parents are not added. The empty path is ignored: nobody owns a whole object. */
export function insertPath(draft: SetDraft, path: FieldPath): void {
  let node = draft;
  for (const element of path) {
    const children: Map<PathElement, SetDraft> = (node.children ??= new Map());
    let child = children.get(element);
    if (child === undefined) children.set(element, (child = newDraft()));
    node = child;
  }
  node.isMember = true;
}

export function finishSet(draft: SetDraft): FieldSet {
  if (draft.children === undefined) return emptySet;
  const set: MutableSet = {};
  for (const key of sortElements([...draft.children.keys()])) {
    const child = draft.children.get(key) as SetDraft;
    const node = finishSet(child);
    set[key] = child.isMember && hasKeys(node) ? { '.': leaf, ...node } : node;
  }
  return set;
}

export function setOf(...paths: readonly FieldPath[]): FieldSet {
  const draft = newDraft();
  for (const path of paths) insertPath(draft, path);
  return finishSet(draft);
}

/** A set of dotted field names: `fieldsNamed('status', 'metadata.labels')`. */
export function fieldsNamed(...names: readonly string[]): FieldSet {
  return setOf(...names.map((name) => name.split('.').map((part) => `f:${part}`)));
}
