/**
 * The places of an account are shared by origins: however many places some of them hold, for however long, another one
 * can start. Proves ORS1–ORS4.
 */
import { expect } from 'chai';
import { item, noResponse, QueueSpec } from '../../support/queue-spec.js';

const PLACES = 500;
const PER_ORIGIN = 200;

/** A queue whose calls continue until a test ends them. */
class Shares {
  readonly queue = new QueueSpec().limit({ maxGlobalParallelism: PLACES });
  /** Open calls, by origin. */
  readonly calls = new Map<string, string[]>();
  #messages = 0;
  #read = 0;

  publish(origin: string, count: number): this {
    for (let left = count; left > 0; left -= 100) {
      const items = Array.from({ length: Math.min(left, 100) }, () => {
        this.#messages += 1;
        return item(`m${this.#messages}`, { url: `https://${origin}/hook`, maxRetries: 10, retryDelay: '0' });
      });
      this.queue.publish(...items);
    }
    return this;
  }

  /** Starts all calls that may start. @returns how many were started, by origin */
  work(room?: number, spare?: number): Map<string, number> {
    this.queue.work(room, spare);
    const started = new Map<string, number>();
    for (const event of this.queue.journal.slice(this.#read)) {
      if (event.type !== 'AttemptStarted') continue;
      const url = this.queue.engine.attemptOf(event.id)?.envelope.url ?? '';
      const { host } = new URL(url);
      const calls = this.calls.get(host) ?? [];
      this.calls.set(host, calls);
      calls.push(event.id);
      started.set(host, (started.get(host) ?? 0) + 1);
    }
    this.#read = this.queue.journal.length;
    return started;
  }

  under(origin: string): number {
    return this.calls.get(origin)?.length ?? 0;
  }

  get all(): number {
    return [...this.calls.values()].reduce((sum, calls) => sum + calls.length, 0);
  }

  /** Ends calls of the origin; status 0 means no response. */
  end(origin: string, status: number, count = Number.POSITIVE_INFINITY): this {
    for (const id of this.calls.get(origin)?.splice(0, count) ?? []) {
      this.queue.outcome(id, status === 0 ? noResponse() : status);
    }
    return this;
  }
}

const names = (count: number, word = 'silent') => Array.from({ length: count }, (_, n) => `${word}${n}.example`);

describe('queue: the places of an account', () => {
  for (const count of [1, 3, 50, 400]) {
    it(`leave one for a new origin while ${count} others take places together and never answer`, () => {
      const shares = new Shares();
      for (const name of names(count)) shares.publish(name, Math.max(3, 2000 / count));
      shares.work();
      shares.publish('well.example', 1);
      expect(shares.work().get('well.example')).to.equal(1);
    });
  }

  for (const count of [3, 10, 50, 80]) {
    it(`leave one for a new origin while ${count} others take places in turn and never answer`, () => {
      const shares = new Shares();
      for (const name of names(count)) {
        shares.publish(name, 200).work();
        expect(shares.under(name), name).to.be.at.least(1);
      }
      shares.publish('well.example', 1);
      expect(shares.work().get('well.example')).to.equal(1);
    });
  }

  for (const count of [1, 3, 50]) {
    it(`leave one for a new origin while ${count} others, answering so far, hold places`, () => {
      const shares = new Shares();
      for (const name of names(count)) shares.publish(name, 1);
      shares.work();
      for (const name of names(count)) shares.end(name, 200).publish(name, Math.max(3, 2000 / count));
      shares.work();
      shares.publish('well.example', 1);
      expect(shares.work().get('well.example')).to.equal(1);
    });
  }

  it('leave one for a new origin after several took places in turn and then stopped answering', () => {
    const shares = new Shares();
    for (const name of names(6)) {
      shares.publish(name, 1).work();
      shares.end(name, 200).publish(name, 300).work();
    }
    shares.publish('well.example', 1);
    expect(shares.work().get('well.example')).to.equal(1);
  });

  it('are shared by origins in need: three silent ones leave as many as each of them has', () => {
    const shares = new Shares();
    for (const name of names(3)) shares.publish(name, 500);
    shares.work();
    for (const name of names(3)) expect(shares.under(name)).to.be.within(85, 95);
    shares.publish('well.example', 500);
    shares.work();
    expect(shares.under('well.example')).to.be.within(30, 50);
    // Once this origin answers, it gets most of the free places.
    shares.end('well.example', 200, 1).work();
    expect(shares.under('well.example')).to.be.above(100);
  });

  it('are limited for a single origin by its own limit', () => {
    const shares = new Shares().publish('new.example', 1000);
    shares.work();
    expect(shares.under('new.example')).to.equal(PER_ORIGIN);
  });

  it('are seven eighths for a single origin that answers, and all of them if there are at most eight', () => {
    for (const [places, most] of [
      [200, 177],
      [10, 9],
      [8, 8],
      [7, 7],
      [1, 1],
    ] as const) {
      const shares = new Shares();
      shares.queue.limit({ maxGlobalParallelism: places });
      shares.publish('a.example', 1).work();
      shares.end('a.example', 200).publish('a.example', 300).work();
      expect(shares.under('a.example'), `of ${places}`).to.equal(most);
    }
  });

  it('are two fifths for a single origin that has not answered yet, and at least one', () => {
    for (const [places, most] of [
      [200, 85],
      [10, 5],
      [2, 2],
      [1, 1],
    ] as const) {
      const shares = new Shares().publish('new.example', 300);
      shares.queue.limit({ maxGlobalParallelism: places });
      shares.work();
      expect(shares.under('new.example'), `of ${places}`).to.equal(most);
    }
  });

  it('keep an eighth for origins that answer, with any number of others', () => {
    const shares = new Shares().publish('known.example', 1);
    shares.work();
    shares.end('known.example', 200);
    for (const name of names(2000)) shares.publish(name, 1);
    shares.work();
    expect(shares.all).to.equal(PLACES - Math.floor(PLACES / 8));
    shares.publish('known.example', 10);
    expect(shares.work().get('known.example')).to.equal(10);
  });

  it('give silent origins at most half, so that new ones start immediately', () => {
    const shares = new Shares();
    const silent = names(2000);
    for (const name of silent) shares.publish(name, 1);
    // Continues until each origin has been tried.
    while (silent.some((name) => (shares.calls.get(name) ?? []).length === 0) && shares.work().size > 0) {
      for (const name of silent) if (shares.under(name) > 0) shares.end(name, 0);
      shares.queue.nowMs += 1;
      if (silent.every((name) => shares.calls.has(name))) break;
    }
    shares.work();
    expect(shares.all).to.be.at.most(PLACES / 2);
    shares.publish('well.example', 1);
    expect(shares.work().get('well.example')).to.equal(1);
  });

  it('go to the waiting origins with the fewest places first', () => {
    const shares = new Shares();
    for (const name of names(10)) shares.publish(name, 300);
    shares.work();
    const before = names(10).map((name) => shares.under(name));
    expect(Math.max(...before) - Math.min(...before)).to.be.at.most(1);
    shares.end('silent0.example', 200, 20).work();
    const after = names(10).map((name) => shares.under(name));
    expect(Math.min(...after)).to.be.at.least(Math.min(...before));
  });

  it('go to every origin in turn: a silent one does not starve among busy ones', () => {
    for (const places of [1, 2, 5, 10]) {
      const shares = new Shares();
      shares.queue.limit({ maxGlobalParallelism: places });
      const busy = names(3, 'busy');
      for (const name of busy) shares.publish(name, 200);
      shares.publish('silent.example', 5);
      let tries = 0;
      for (let round = 0; round < 300 && tries < 5; round += 1) {
        tries += shares.work().get('silent.example') ?? 0;
        for (const name of busy) shares.end(name, 200);
        shares.end('silent.example', 0);
        shares.queue.nowMs += 1;
      }
      expect(tries, `of ${places} places`).to.be.at.least(5);
    }
  });

  it('are bounded by the room of the process', () => {
    const shares = new Shares();
    for (const name of names(3)) shares.publish(name, 500);
    shares.work(10_000, 100);
    expect(shares.all).to.be.within(50, 60);
    expect(shares.queue.engine.waitsForRoom).to.equal(true);
    shares.publish('well.example', 1);
    expect(shares.work(10_000, 100 - shares.all).get('well.example')).to.equal(1);
    // And more, as soon as the process has more.
    shares.work(10_000, 400);
    expect(shares.all).to.be.above(200);
  });

  it('go first to attempts that a crash interrupted', () => {
    const shares = new Shares();
    for (const name of names(3)) shares.publish(name, 500);
    shares.work();
    const open = shares.all;
    const after = shares.queue.replayed();
    after.work();
    const news = after.news();
    expect(news.filter((line) => line.includes('restart 1'))).to.have.length(open);
    expect(news.slice(0, open).every((line) => line.includes('restart 1'))).to.equal(true);
  });
});
