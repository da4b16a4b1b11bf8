import { expect } from 'chai';
import { ProgressLine } from '../../../src/cli/progress-line.js';

describe('the progress line of a command', () => {
  function stand(isTTY: boolean) {
    let [text, nowMs] = ['', 0];
    const stream = {
      isTTY,
      columns: 20,
      write: (piece: string) => {
        text += piece;
      },
    };
    const progress = new ProgressLine(stream, () => nowMs);
    return {
      progress,
      text: () => text,
      later: (ms: number) => {
        nowMs += ms;
      },
    };
  }

  it('is rewritten at most ten times a second on a terminal, and removed at the end', () => {
    const { progress, text, later } = stand(true);
    progress.show(() => 'one of three');
    progress.show(() => expect.fail('too soon'));
    later(100);
    progress.show(() => 'a line that is longer than the terminal is wide');
    progress.clear();
    progress.clear();
    expect(text()).to.equal('\r\u001b[Kone of three\r\u001b[Ka line that is long\r\u001b[K');
  });

  it('is not written where standard error is no terminal', () => {
    const { progress, text } = stand(false);
    progress.show(() => expect.fail('nobody watches'));
    progress.clear();
    expect(text()).to.equal('');
  });
});
