/** A read model that is rebuilt while it answers. Proves RBE1, RBE2. */
import { expect } from 'chai';
import { ModelRebuilder, type MovableFiles } from '../../../src/projections/model-rebuilder.js';
import { eventually } from '../../support/eventually.js';
import { ManualTime } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';

class FakeFiles implements MovableFiles {
  holds = '';

  open(): never {
    throw new Error('not opened here');
  }

  remove(): void {
    this.holds = '';
  }

  moveTo(other: FakeFiles): void {
    other.holds = this.holds;
    this.holds = '';
  }
}

class FakeModel {
  isCaughtUp = false;
  isRunning = false;
  stopping: Promise<void> = Promise.resolve();

  constructor(readonly files: FakeFiles) {}

  start(): void {
    this.isRunning = true;
    this.files.holds ||= 'folded';
  }

  async stop(): Promise<void> {
    await this.stopping;
    this.isRunning = false;
  }

  status() {
    return { isCaughtUp: this.isCaughtUp };
  }
}

describe('a read model that is rebuilt while it serves', () => {
  function given() {
    const time = new ManualTime();
    const [files, nextFiles] = [new FakeFiles(), new FakeFiles()];
    files.holds = 'old';
    nextFiles.holds = 'left by a process that died';
    const made: FakeModel[] = [];
    const create = (of: unknown) => {
      const model = new FakeModel(of as FakeFiles);
      made.push(model);
      return model;
    };
    const rebuilt = new ModelRebuilder({ name: 'test', files, nextFiles, create, timers: time, log: silentLog });
    rebuilt.start();
    return { time, files, nextFiles, made, rebuilt };
  }

  it('answers from the old one until the new one is complete', async () => {
    const { time, files, nextFiles, made, rebuilt } = given();
    expect([files.holds, nextFiles.holds]).to.deep.equal(['old', '']);
    const [old] = made as [FakeModel];
    const done = rebuilt.rebuild();
    expect(rebuilt.rebuild()).to.equal(done);
    await time.advance(1_000);
    expect(await rebuilt.answering()).to.equal(old);
    expect([made.length, rebuilt.all.length, old.isRunning]).to.deep.equal([2, 2, true]);
    (made[1] as FakeModel).isCaughtUp = true;
    await eventually(async () => {
      await time.advance(100);
      expect(made).to.have.length(3);
    });
    await done;
    expect([old.isRunning, made[1]?.isRunning, made[2]?.isRunning]).to.deep.equal([false, false, true]);
    expect([files.holds, nextFiles.holds]).to.deep.equal(['folded', '']);
    expect(await rebuilt.answering()).to.equal(made[2]);
  });

  it('lets questions wait during the replacement', async () => {
    const { time, made, rebuilt } = given();
    let letGo: () => void = () => {};
    (made[0] as FakeModel).stopping = new Promise((resolve) => {
      letGo = resolve;
    });
    const done = rebuilt.rebuild();
    (made[1] as FakeModel).isCaughtUp = true;
    await time.advance(100);
    let answeredBy: FakeModel | undefined;
    const answered = rebuilt.answering().then((model) => {
      answeredBy = model as FakeModel;
    });
    await time.advance(1_000);
    expect(answeredBy).to.equal(undefined);
    letGo();
    await Promise.all([answered, done]);
    expect(answeredBy).to.equal(made[2]);
  });

  it('keeps the old one when it is stopped before the end', async () => {
    const { time, files, made, rebuilt } = given();
    const done = rebuilt.rebuild();
    const stopped = rebuilt.stop();
    await eventually(async () => {
      await time.advance(100);
      expect(made.every(({ isRunning }) => !isRunning)).to.equal(true);
    });
    await Promise.all([done, stopped]);
    expect(files.holds).to.equal('old');
    await rebuilt.rebuild();
    expect(made).to.have.length(2);
  });
});
