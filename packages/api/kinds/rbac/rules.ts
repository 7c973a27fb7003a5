import type { KindRules } from '../kind-rules.ts';
import { defaultBinding } from './defaults.ts';
import {
  roleRefStays,
  validateClusterRole,
  validateClusterRoleBinding,
  validateRole,
  validateRoleBinding,
} from './validation.ts';

const traits: KindRules = { nameRule: 'path-segment', allowsCreateOnUpdate: true };

export const rbacRules: Readonly<Record<string, KindRules>> = {
  'rbac.authorization.k8s.io/Role': { ...traits, validateCreate: validateRole, validateUpdate: validateRole },
  'rbac.authorization.k8s.io/ClusterRole': {
    ...traits,
    validateCreate: validateClusterRole,
    validateUpdate: validateClusterRole,
  },
  'rbac.authorization.k8s.io/RoleBinding': {
    ...traits,
    applyDefaults: defaultBinding,
    validateCreate: validateRoleBinding,
    validateUpdate: roleRefStays(validateRoleBinding),
  },
  'rbac.authorization.k8s.io/ClusterRoleBinding': {
    ...traits,
    applyDefaults: defaultBinding,
    validateCreate: validateClusterRoleBinding,
    validateUpdate: roleRefStays(validateClusterRoleBinding),
  },
};
