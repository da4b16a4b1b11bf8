/** Writes docs/settings.md, or the file given as first argument. Run by `make docs`. */
import { writeFileSync } from 'node:fs';
import { settingsPage } from './settings-page.js';

writeFileSync(process.argv[2] ?? 'docs/settings.md', settingsPage());
