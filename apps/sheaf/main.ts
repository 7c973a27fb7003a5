#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

enableCompileCache(process.env['NODE_COMPILE_CACHE']);

// Everything else is loaded after the cache is on, so that it is compiled once and for all.
const { runCommand } = await import('./commands.ts');
process.exitCode = await runCommand(process.argv.slice(2));
