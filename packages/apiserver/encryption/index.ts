export { type Encryption, type EncryptionOptions, openEncryption } from './encryption.ts';
export { keyFileName, keyFileText, readKeyFile, withKeysOf, withNewKey } from './key-file.ts';
