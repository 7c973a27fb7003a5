import type { AccessCredential, CloudInitSource, InstanceSpec, VolumeSpec } from '../instance-spec.ts';

/** Why a Secret is used: the name of the volume with a word, or the place of the credential. */
export interface SecretUse {
  readonly volume?: string;
  readonly credential?: number;
  readonly purpose: 'userdata' | 'networkdata' | 'secret' | 'sshpublickey' | 'userpassword';
}

/** The spec with other Secrets in the places of its own, as `rename` says. */
export function withSecrets(
  spec: InstanceSpec,
  rename: (name: string, use: SecretUse) => string,
): InstanceSpec {
  const { volumes, accessCredentials } = spec;
  return {
    ...spec,
    ...(volumes ? { volumes: volumes.map((volume) => renamedVolume(volume, rename)) } : {}),
    ...(accessCredentials
      ? { accessCredentials: accessCredentials.map((each, index) => renamedCredential(each, index, rename)) }
      : {}),
  };
}

type Rename = (name: string, use: SecretUse) => string;

function renamedVolume(volume: VolumeSpec, rename: Rename): VolumeSpec {
  const { name, cloudInitNoCloud, cloudInitConfigDrive, secret } = volume;
  const source = (given: CloudInitSource): CloudInitSource => renamedSource(given, name, rename);
  return {
    ...volume,
    ...(cloudInitNoCloud ? { cloudInitNoCloud: source(cloudInitNoCloud) } : {}),
    ...(cloudInitConfigDrive ? { cloudInitConfigDrive: source(cloudInitConfigDrive) } : {}),
    ...(secret?.secretName === undefined
      ? {}
      : {
          secret: { ...secret, secretName: rename(secret.secretName, { volume: name, purpose: 'secret' }) },
        }),
  };
}

function renamedSource(source: CloudInitSource, volume: string, rename: Rename): CloudInitSource {
  const renamed = (
    reference: CloudInitSource['secretRef'],
    purpose: SecretUse['purpose'],
  ): CloudInitSource['secretRef'] =>
    reference?.name === undefined ? reference : { name: rename(reference.name, { volume, purpose }) };
  const { secretRef, networkDataSecretRef } = source;
  return {
    ...source,
    ...(secretRef ? { secretRef: renamed(secretRef, 'userdata') } : {}),
    ...(networkDataSecretRef ? { networkDataSecretRef: renamed(networkDataSecretRef, 'networkdata') } : {}),
  };
}

function renamedCredential(each: AccessCredential, credential: number, rename: Rename): AccessCredential {
  const { sshPublicKey, userPassword } = each;
  const secretOf = (
    source: { readonly secret?: { readonly secretName: string } | undefined },
    purpose: SecretUse['purpose'],
  ) =>
    source.secret
      ? { source: { secret: { secretName: rename(source.secret.secretName, { credential, purpose }) } } }
      : {};
  return {
    ...each,
    ...(sshPublicKey
      ? { sshPublicKey: { ...sshPublicKey, ...secretOf(sshPublicKey.source, 'sshpublickey') } }
      : {}),
    ...(userPassword
      ? { userPassword: { ...userPassword, ...secretOf(userPassword.source, 'userpassword') } }
      : {}),
  };
}
