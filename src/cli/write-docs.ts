/** `make docs`: writes the pages that are generated from the command table. */
import { writeDocs } from './docs-command.js';

await writeDocs('docs');
