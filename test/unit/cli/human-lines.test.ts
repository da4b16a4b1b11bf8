import { expect } from 'chai';
import { JsonLog, SystemClock } from '../../../src/adapters/node/index.js';
import { humanLines } from '../../../src/cli/serve-command.js';

describe('the log for a terminal', () => {
  function stand(tellsAll: boolean, isTTY = false) {
    let text = '';
    const stream = {
      isTTY,
      write: (piece: string) => {
        text += piece;
      },
    };
    const write = humanLines(stream as unknown as NodeJS.WriteStream, tellsAll);
    return { log: new JsonLog({ level: 'debug', clock: new SystemClock(), write }), text: () => text };
  }

  it('shows errors, and of the normal lines only those of a start', () => {
    const { log, text } = stand(false);
    log.info('shard.serving', { shard: 'KV_0' });
    log.info('process.ready', { nats: '2.15.1' });
    log.error('storage.full', { freeBytes: 7, reason: 'two words' });
    expect(text()).to.match(
      /^\d\d:\d\d:\d\d info {2}process\.ready nats=2\.15\.1\n\d\d:\d\d:\d\d error storage\.full freeBytes=7 reason="two words"\n$/,
    );
  });

  it('shows every line in debug mode', () => {
    const { log, text } = stand(true);
    log.debug('shard.serving');
    expect(text()).to.contain('debug shard.serving');
  });

  it('escapes control characters from strangers', () => {
    const { log, text } = stand(false);
    log.warn('face.refused', { path: '/\u001b[2J\n' });
    expect(text().split('\n')).to.have.length(2);
    expect(text()).to.not.contain('\u001b');
  });
});
