/** README and the pages under docs that start their own process, or that fail with the data of another page. */
import { PageReading } from '../../support/pages/page-reading.js';
import { describePages } from '../../support/pages/readers.js';

describePages('the examples of the documentation, each page with its own process', {
  isRead: PageReading.needsItsServer,
});
