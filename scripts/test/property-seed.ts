import { configureGlobal } from 'fast-check';

// Loaded before the tests: a property is tried with the same values in each run, so that a run says something about the change that
// it tries. SHEAF_TEST_SEED asks for others.
configureGlobal({ seed: Number(process.env['SHEAF_TEST_SEED'] ?? 1) });
