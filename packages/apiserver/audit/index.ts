export { type AuditFile, AuditLog, type AuditLogOptions } from './audit-log.ts';
export { type AuditLevel, type AuditPolicy, type AuditRule } from './audit-policy.ts';
export { AuditPolicyError, readAuditPolicy } from './read-audit-policy.ts';
