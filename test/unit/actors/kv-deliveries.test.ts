/** The deliveries of owners to the processes of listening clients. */
import { expect } from 'chai';
import { KvDeliveries } from '../../../src/actors/kv-shard/index.js';
import type { DatabaseId, SessionId } from '../../../src/kernel/index.js';
import { type KvDelivery, kvPartition } from '../../../src/protocol/index.js';
import { ManualTime, MemoryNetwork } from '../../support/memory/index.js';

const DELIVERY: KvDelivery = {
  partition: kvPartition('db-aaaaaaaaaaaaaaaa' as DatabaseId, 0),
  activation: '1-abcdef',
  events: [],
};

describe('a delivery to listening clients', () => {
  const edge = 'node-edge' as SessionId;
  let time: ManualTime;
  let here: KvDeliveries;
  let there: KvDeliveries;
  let heard: KvDelivery[];

  beforeEach(() => {
    time = new ManualTime();
    const network = new MemoryNetwork(time);
    here = new KvDeliveries(network.connect());
    there = new KvDeliveries(network.connect());
    heard = [];
  });

  const hearHere = () => here.hear({ edge, receive: (delivery) => heard.push(delivery) });

  it('reaches the process of the owner synchronously, and once', async () => {
    hearHere();
    here.deliver(edge, DELIVERY);
    expect(heard).to.deep.equal([DELIVERY]);
    await time.advance(10);
    expect(heard).to.have.length(1);
  });

  it('reaches another process over the bus', async () => {
    hearHere();
    there.deliver(edge, DELIVERY);
    await time.advance(10);
    expect(heard).to.deep.equal([DELIVERY]);
  });

  it('does not reach a process that has stopped listening', async () => {
    hearHere().stop();
    here.deliver(edge, DELIVERY);
    there.deliver(edge, DELIVERY);
    await time.advance(10);
    expect(heard).to.deep.equal([]);
  });
});
