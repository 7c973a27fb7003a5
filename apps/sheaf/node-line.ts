import type { KubeObject } from '@sheaf/api';
import { parseQuantity, quantityAsNumber } from '@sheaf/base';
import { conditionOf } from './condition-words.ts';
import { at, textAt } from './connect.ts';

/** A node in one line: `node-1: Ready, 4 processors and 15Gi of memory for machines, KVM`. */
export function nodeLine(node: KubeObject): string {
  const allocatable = (name: string): string => textAt(node, 'status', 'allocatable', name) || 'unknown';
  const words = [
    readiness(node),
    ...(at(node, 'spec', 'unschedulable') === true ? ['cordoned'] : []),
    `${allocatable('cpu')} processors and ${gibibytes(allocatable('memory'))} of memory for machines`,
    ...accelerator(node),
  ];
  return `${node.metadata.name ?? ''}: ${words.join(', ')}`;
}

function gibibytes(quantity: string): string {
  if (quantity === 'unknown') return quantity;
  return `${(quantityAsNumber(parseQuantity(quantity)) / 2 ** 30).toFixed(1)}Gi`;
}

function readiness(node: KubeObject): string {
  const condition = conditionOf(node, 'Ready');
  const status = textAt(condition, 'status');
  if (status === 'True') return 'Ready';
  return status === 'False' ? 'not Ready' : 'not known whether Ready';
}

function accelerator(node: KubeObject): readonly string[] {
  const condition = conditionOf(node, 'Accelerated');
  const reason = textAt(condition, 'reason');
  return reason === '' ? [] : [`${reason} (${textAt(condition, 'message')})`];
}
