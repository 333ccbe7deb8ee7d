#!/usr/bin/env node
// The command of `npx domaindex` in a checkout: npx finds it in node_modules/.bin, and so asks no registry for that name.

import '../../bin/domaindex.js'
