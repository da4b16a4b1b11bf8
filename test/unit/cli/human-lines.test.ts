import { expect } from 'chai';
import { JsonLog, SystemClock } from '../../../src/adapters/node/index.js';
import { humanLines } from '../../../src/cli/human-lines.js';

describe('the log for a person', () => {
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

  it('tells what went wrong, and of what is in order no more than a start is worth', () => {
    const { log, text } = stand(false);
    log.info('shard.serving', { shard: 'KV_0' });
    log.info('process.ready', { nats: '2.15.1' });
    log.error('storage.full', { freeBytes: 7, reason: 'two words' });
    expect(text()).to.match(
      /^\d\d:\d\d:\d\d info {2}process\.ready nats=2\.15\.1\n\d\d:\d\d:\d\d error storage\.full freeBytes=7 reason="two words"\n$/,
    );
  });

  it('tells everything to whoever asks for debugging', () => {
    const { log, text } = stand(true);
    log.debug('shard.serving');
    expect(text()).to.contain('debug shard.serving');
  });

  it('keeps what strangers send from doing anything to the terminal', () => {
    const { log, text } = stand(false);
    log.warn('face.refused', { path: '/\u001b[2J\n' });
    expect(text().split('\n')).to.have.length(2);
    expect(text()).to.not.contain('\u001b');
  });
});
