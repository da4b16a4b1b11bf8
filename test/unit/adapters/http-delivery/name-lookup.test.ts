/** Looking names up without letting one hold up the others for ever. */
import type { LookupAddress } from 'node:dns';
import { expect } from 'chai';
import { NameLookup } from '../../../../src/adapters/http-delivery/name-lookup.js';
import { eventually } from '../../../support/eventually.js';

const ADDRESS: LookupAddress = { address: '93.184.215.14', family: 4 };

describe('name lookup', () => {
  it('asks once for a name that many ask for', async () => {
    let asked = 0;
    const lookup = new NameLookup(async () => {
      asked += 1;
      return [ADDRESS];
    });
    const answers = await Promise.all([lookup.addressesOf('a'), lookup.addressesOf('a')]);
    await lookup.addressesOf('a');
    expect(answers[0]).to.deep.equal([ADDRESS]);
    expect(asked).to.equal(1);
  });

  it('remembers a failure as it remembers an answer', async () => {
    let asked = 0;
    const lookup = new NameLookup(async () => {
      asked += 1;
      throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    });
    const codes: (string | undefined)[] = [];
    for (let time = 0; time < 2; time += 1) {
      await lookup.addressesOf('a').catch((error: NodeJS.ErrnoException) => codes.push(error.code));
    }
    expect(codes).to.deep.equal(['ENOTFOUND', 'ENOTFOUND']);
    expect(asked).to.equal(1);
  });

  it('runs three lookups at once and the others in their turn', async () => {
    const running: { name: string; finish: (addresses: LookupAddress[]) => void }[] = [];
    const lookup = new NameLookup((name) => new Promise((finish) => running.push({ name, finish })));
    const answers = ['a', 'b', 'c', 'd'].map((name) => lookup.addressesOf(name));
    expect(running.map(({ name }) => name)).to.deep.equal(['a', 'b', 'c']);
    running[1]?.finish([ADDRESS]);
    await eventually(() => expect(running.map(({ name }) => name)).to.deep.equal(['a', 'b', 'c', 'd']));
    for (const { finish } of running) finish([ADDRESS]);
    expect(await Promise.all(answers)).to.have.length(4);
  });

  it('fails at once when a thousand wait already', async () => {
    const lookup = new NameLookup(() => new Promise(() => {}));
    for (let n = 0; n < 1003; n += 1) void lookup.addressesOf(`n${n}`);
    const code = await lookup.addressesOf('one more').catch((error: NodeJS.ErrnoException) => error.code);
    expect(code).to.equal('ELOOKUPS');
  });
});
