import type { FieldError } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { KindRules } from '../kind-rules.ts';
import {
  defaultAdmissionPolicy,
  defaultMutatingWebhooks,
  defaultPolicyBinding,
  defaultValidatingWebhooks,
} from './defaults.ts';
import {
  validateMutatingPolicy,
  validatePolicyBinding,
  validateValidatingPolicy,
} from './policy-validation.ts';
import { validateWebhooks } from './webhook-validation.ts';

function rulesWith(
  applyDefaults: (object: KubeObject) => void,
  validate: (object: KubeObject) => readonly FieldError[],
): KindRules {
  return {
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    applyDefaults,
    validateCreate: validate,
    validateUpdate: validate,
  };
}

export const admissionRules: Readonly<Record<string, KindRules>> = {
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': rulesWith(
    defaultValidatingWebhooks,
    validateWebhooks,
  ),
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': rulesWith(
    defaultMutatingWebhooks,
    validateWebhooks,
  ),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': rulesWith(
    defaultAdmissionPolicy,
    validateValidatingPolicy,
  ),
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': rulesWith(
    defaultAdmissionPolicy,
    validateMutatingPolicy,
  ),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': rulesWith(
    defaultPolicyBinding,
    validatePolicyBinding,
  ),
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': rulesWith(
    defaultPolicyBinding,
    validatePolicyBinding,
  ),
};
