import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { docsPages } from '../../../src/cli/docs-command.js';

describe('the generated pages of docs/', () => {
  for (const [name, text] of docsPages()) {
    it(`include ${name} as generated from the command table`, () => {
      expect(readFileSync(`docs/${name}`, 'utf8')).to.equal(text);
    });
  }
});
