import type { JsonObject, JsonValue } from '@sheaf/base';
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { checkEnum, checkNotNegative, type Errors } from '../checks.ts';
import { fieldsAt, isTrueAt, objectAt, specOf, textAt } from '../fields.ts';
import { scheduleFault } from './cron-schedule.ts';
import { checkJobSpec } from './job-validation.ts';

/** Jobs get eleven characters more. */
const maxName = 52;

export function validateCronJob(cronJob: KubeObject): readonly FieldError[] {
  const errors = specErrors(cronJob);
  const { name = '' } = cronJob.metadata;
  if (name.length > maxName)
    errors.push(invalid('metadata.name', name, `must be no more than ${maxName} characters`));
  return errors;
}

export function validateCronJobUpdate(next: KubeObject, _old: KubeObject): readonly FieldError[] {
  return specErrors(next);
}

function specErrors(cronJob: KubeObject): Errors {
  const errors: Errors = [];
  const spec = specOf(cronJob);
  checkSchedule(errors, textAt(spec, 'schedule'));
  checkNotNegative(errors, 'spec.startingDeadlineSeconds', spec['startingDeadlineSeconds']);
  checkTimeZone(errors, spec['timeZone']);
  checkEnum(errors, { field: 'spec.concurrencyPolicy', value: textAt(spec, 'concurrencyPolicy') }, [
    'Allow',
    'Forbid',
    'Replace',
  ]);
  checkJobTemplate(errors, fieldsAt(fieldsAt(spec, 'jobTemplate'), 'spec'));
  checkNotNegative(errors, 'spec.successfulJobsHistoryLimit', spec['successfulJobsHistoryLimit']);
  checkNotNegative(errors, 'spec.failedJobsHistoryLimit', spec['failedJobsHistoryLimit']);
  return errors;
}

function checkSchedule(errors: Errors, schedule: string): void {
  if (schedule === '') return void errors.push(required('spec.schedule'));
  if (schedule.includes('TZ'))
    return void errors.push(
      invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    );
  const fault = scheduleFault(schedule);
  if (fault !== undefined) errors.push(invalid('spec.schedule', schedule, fault));
}

function checkTimeZone(errors: Errors, zone: JsonValue | undefined): void {
  if (typeof zone !== 'string') return;
  const fault = zoneFault(zone);
  if (fault !== undefined) errors.push(invalid('spec.timeZone', zone, fault));
}

function zoneFault(zone: string): string | undefined {
  if (zone === '') return 'timeZone must be nil or non-empty string';
  if (zone.toLowerCase() === 'local')
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return undefined;
  } catch {
    return `unknown time zone ${zone}`;
  }
}

/** The selector of each job is generated when it is made. */
function checkJobTemplate(errors: Errors, spec: JsonObject): void {
  const field = 'spec.jobTemplate.spec';
  checkJobSpec(errors, field, spec);
  const selector = objectAt(spec, 'selector');
  if (selector !== undefined)
    errors.push(invalid(`${field}.selector`, selector, '`selector` will be auto-generated'));
  if (isTrueAt(spec, 'manualSelector'))
    errors.push(notSupported(`${field}.manualSelector`, true, ['nil', 'false']));
}
