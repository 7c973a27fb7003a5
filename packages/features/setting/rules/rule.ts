import type { AdmissionObjects } from '@sheaf/api';
import { SettingProblem } from '@sheaf/api/setting/index';
import type { Setting } from '@sheaf/api/virtualization/index';
import type { StatusReason } from '@sheaf/base';

/** Fails for a text that cannot be the value of a setting. Not asked about an empty one. @throws SettingProblem */
export type TextRule = (text: string) => unknown;

/** A setting that is about to change, and what it depends on. */
export interface SettingChange {
  readonly setting: Setting;
  /** Absent: it is created. */
  readonly old: Setting | undefined;
  /** What the release has as its default. */
  readonly builtInDefault: string;
  readonly objects: AdmissionObjects;
}

/**
 * Fails for a change that the rest of the cluster does not allow now. Asked when value or default change, on creation
 * only where there is a value. @throws ClusterProblem, SettingProblem
 */
export type ClusterRule = (change: SettingChange) => void;

/** The text may be right, but not now. */
export class ClusterProblem extends SettingProblem {
  readonly reason: StatusReason;

  constructor(reason: StatusReason, message: string, wayOut: string) {
    super(message, wayOut);
    this.reason = reason;
  }
}
