/**
 * README and the pages under docs, carried out by a reader who starts with an empty machine (docs/testing.md explains
 * the blocks). Pages that start their own process are in pages-with-server.test.ts, the page of a cluster, which needs
 * its own machines, in cluster.test.ts. All other pages share a process for each reader, because a start costs four
 * seconds of processor time.
 */
import { PageReading, SharedServer } from '../../support/pages/page-reading.js';
import { describePages } from '../../support/pages/readers.js';

describePages('the examples of the documentation', {
  isRead: (page) => !PageReading.needsItsServer(page),
  start: SharedServer.started,
});
