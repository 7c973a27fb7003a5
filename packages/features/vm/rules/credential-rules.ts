import type { StatusCause } from '@sheaf/base';
import type { AccessCredential, InstanceSpec } from '../instance-spec.ts';
import { cause, each } from './cause.ts';

/** What is wrong with the keys and passwords that are to be put into the guest. */
export function credentialCauses(spec: InstanceSpec, path: string): readonly StatusCause[] {
  return each(spec.accessCredentials, `${path}.accessCredentials`, (credential, field) => {
    const { sshPublicKey, userPassword } = credential;
    const count = [sshPublicKey, userPassword].filter(Boolean).length;
    const several =
      count === 1
        ? []
        : [
            cause(field, `${field} must have exactly one access credential type set`, {
              wayOut: 'set one of sshPublicKey and userPassword',
            }),
          ];
    return [...several, ...keyCauses(credential, spec, field)];
  });
}

function keyCauses(
  { sshPublicKey }: AccessCredential,
  { volumes = [] }: InstanceSpec,
  field: string,
): readonly StatusCause[] {
  if (!sshPublicKey) return [];
  const { source, propagationMethod } = sshPublicKey;
  const place = `${field}.sshPublicKey`;
  const { noCloud, configDrive, qemuGuestAgent } = propagationMethod;
  const causes: StatusCause[] = [];
  if (!source.secret)
    causes.push(
      cause(`${place}.source`, `${field} must have exactly one source set`, { wayOut: 'name a Secret' }),
    );
  if ([noCloud, configDrive, qemuGuestAgent].filter(Boolean).length !== 1)
    causes.push(
      cause(`${place}.propagationMethod`, `${field} must have exactly one propagationMethod set`, {
        wayOut: 'set one of noCloud, configDrive and qemuGuestAgent',
      }),
    );
  if (noCloud && !volumes.some(({ cloudInitNoCloud }) => cloudInitNoCloud))
    causes.push(missingVolume(field, 'noCloud'));
  if (configDrive && !volumes.some(({ cloudInitConfigDrive }) => cloudInitConfigDrive))
    causes.push(missingVolume(field, 'configDrive'));
  return causes;
}

function missingVolume(field: string, way: string): StatusCause {
  const text = `${field} requires a ${way} volume to exist when the ${way} propagationMethod is in use.`;
  return cause(`${field}.sshPublicKey.propagationMethod`, text, {
    wayOut: `add a cloud-init volume for ${way}`,
  });
}
