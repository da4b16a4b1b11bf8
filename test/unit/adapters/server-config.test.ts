/** The configuration file of the embedded server. Proves SCO3. */
import { expect } from 'chai';
import { renderServerConfig } from '../../../src/adapters/nats/embedded/server-config.js';

describe('the configuration of the embedded server', () => {
  const rendered = (text: string) =>
    renderServerConfig({
      version: '2.15.0',
      port: 4222,
      storeDir: `/data/${text}`,
      logPath: `/log/${text}`,
      fsync: 'always',
      isEncrypted: false,
      maxPayloadBytes: 1024,
      app: { user: `app${text}`, password: `secret${text}` },
      system: { user: `sys${text}`, password: `other${text}` },
    });
  const STRINGS = /"(?:[^"\\]|\\.)*"/g;

  it('differs only in quoted strings, for any path and password (SCO3)', () => {
    const plain = rendered('');
    const odd = [
      '" }\n',
      '\\',
      '\\"',
      "'",
      '# x',
      '// x',
      '\n',
      '$HOME',
      '{ user: root }',
      'é ',
      '\u0000',
      'include "x"',
    ];
    for (const text of odd) {
      const config = rendered(text);
      expect(config.replace(STRINGS, '""'), JSON.stringify(text)).to.equal(plain.replace(STRINGS, '""'));
      const quoted = [...config.matchAll(STRINGS)].map(([part]) => JSON.parse(part) as string);
      expect(quoted).to.include.members([`/data/${text}`, `/log/${text}`, `app${text}`, `secret${text}`]);
      expect(quoted).to.include.members([`sys${text}`, `other${text}`]);
    }
  });
});
