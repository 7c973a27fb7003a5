import { readFile } from 'node:fs/promises';
import { type AuditPolicy, AuditPolicyError, readAuditPolicy } from '@sheaf/apiserver/audit/index';
import { toError } from '@sheaf/base';

/** `undefined`: no file was named. @throws AuditPolicyError that names the file */
export async function readAuditPolicyFile(path: string | undefined): Promise<AuditPolicy | undefined> {
  if (path === undefined) return undefined;
  try {
    return readAuditPolicy(await readFile(path, 'utf8'));
  } catch (error) {
    throw new AuditPolicyError(`the audit policy ${path} cannot be used: ${toError(error).message}`, {
      cause: error,
    });
  }
}
