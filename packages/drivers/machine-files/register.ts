export { DirectoryMachineFiles } from './directory-files.ts';
